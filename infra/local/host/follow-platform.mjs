import { readFileSync } from 'node:fs';
import net from 'node:net';

const loopback = new Set(['localhost', '127.0.0.1', '::1']);

const movedIn = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).moved;
  } catch {
    return {};
  }
};

/**
 * From now on, connections of this process to an earlier port of the platform go to its current port. This covers the
 * API and signed URLs, so that the runner program needs no code for either.
 * @param {string} file of moved-ports.ts
 */
export const followPlatform = (file) => {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...given) {
    // node:net passes its own arguments as one list.
    const options = Array.isArray(given[0]) ? given[0][0] : given[0];
    if (options?.port && loopback.has(options.host)) options.port = movedIn(file)[options.port] ?? options.port;
    return connect.apply(this, given);
  };
};
