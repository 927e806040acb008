export default ({ name }) => ({ state_delta: { greeting: `hello ${name}` } });
