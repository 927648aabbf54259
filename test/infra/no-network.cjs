// Preloaded into the CDK command line and the app it starts: whoever connects to anything but a pipe fails loudly.
const net = require('node:net');
const dns = require('node:dns');

const refuse = (what) => {
  process.stderr.write(`network is used: ${what}\n`);
  process.exit(97);
};
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  if (options && typeof options === 'object' && options.path) return connect.apply(this, args);
  return refuse(JSON.stringify(options));
};
dns.lookup = (host) => refuse(host);
