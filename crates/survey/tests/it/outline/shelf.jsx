const React = require("react");

exports.load = function (path) {
  return path;
};

function* rows() {}

class Shelf extends React.Component {
  render() {
    return <div>{this.props.rows}</div>;
  }
}

const Jar = ({ label }) => <b>{label}</b>;

module.exports = { Shelf, Jar };
