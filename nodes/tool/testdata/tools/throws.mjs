export default ({ _state }) => _state.nothing.here;
