// Leaves a timer behind, which must not keep the node waiting.
export default () => {
  setInterval(() => {}, 1000);
  return { edge_output: "x".repeat(300000) };
};
