module.exports = (input) => ({ edge_output: Object.keys(input) });
