export default async ({ _state, _edge_inputs, $item, $index }) => {
  console.log("adding up", _state.amounts.length, "amounts");
  process.stdout.write("and a raw line\n");
  const total = _state.amounts.reduce((a, b) => a + b, 0);
  return { edge_output: { total, from: Object.keys(_edge_inputs), item: $item, index: $index } };
};
