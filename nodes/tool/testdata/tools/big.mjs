export default () => ({ edge_output: 10n });
