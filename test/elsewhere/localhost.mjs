import dns from 'node:dns';

/** Names below .localhost lead to this machine (RFC 6761 §6.3), which not every system's resolver knows. */

const { lookup } = dns;
const isLocal = (host) => /\.localhost$/i.test(host);

dns.lookup = (host, options, callback) => {
  const done = callback ?? options;
  if (!isLocal(host)) return callback ? lookup(host, options, callback) : lookup(host, done);
  const address = { address: '127.0.0.1', family: 4 };
  process.nextTick(() => (options?.all ? done(null, [address]) : done(null, address.address, address.family)));
};
