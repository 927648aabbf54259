// Loaded by runners before their program (`node --import`): connections to a port that the platform had at a former start
// go to the one it has now. It covers the API and signed URLs alike, so that the program needs to know of neither.
import { readFileSync } from 'node:fs';
import net from 'node:net';

const file = new URL(import.meta.url).searchParams.get('file') ?? '';
const loopback = new Set(['localhost', '127.0.0.1', '::1']);

const moved = () => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).moved;
  } catch {
    return {};
  }
};

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...given) {
  // node:net hands over its own arguments as one list.
  const options = Array.isArray(given[0]) ? given[0][0] : given[0];
  if (options?.port && loopback.has(options.host)) options.port = moved()[options.port] ?? options.port;
  return connect.apply(this, given);
};
