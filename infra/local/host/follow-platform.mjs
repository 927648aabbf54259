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
 * From now on, connections of this process to a port that the platform had at a former start go to the one it has now. It covers
 * the API and signed URLs alike, so that the runner's program needs to know of neither.
 * @param {string} file of moved-ports.ts
 */
export const followPlatform = (file) => {
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...given) {
    // node:net hands over its own arguments as one list.
    const options = Array.isArray(given[0]) ? given[0][0] : given[0];
    if (options?.port && loopback.has(options.host)) options.port = movedIn(file)[options.port] ?? options.port;
    return connect.apply(this, given);
  };
};
