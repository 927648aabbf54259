/**
 * Where Linux lets this process have namespaces, an engine runs without a network, and with nothing in its file system but
 * itself and its working directory. In functions on AWS there are none, nor on macOS: there, what the language may not
 * (pure-builtins.ts, set-files.ts) keeps policies from files and network.
 */

/** The file in the working directory that the engine's binary is mounted on. */
export const mountPoint = 'engine';

/** The mounts are the process's own, and end with it. */
const enter = `mount --bind -- "$0" ${mountPoint} && exec chroot . /${mountPoint} "$@"`;

/** How to start an engine. */
export type Room = (binary: string, parameters: string[]) => [program: string, parameters: string[]];

const noRoom: Room = (binary, parameters) => [binary, parameters];

const roomOf =
  (...options: string[]): Room =>
  (binary, parameters) => [
    'unshare',
    [...options, '--net', '--mount', '--', '/bin/sh', '-c', enter, binary, ...parameters],
  ];

const rooms = (): Room[] => {
  if (process.platform !== 'linux') return [];
  return [process.getuid?.() === 0 ? roomOf() : roomOf('--map-root-user')];
};

/** @param starts whether the engine starts there: one that needs libraries finds none, and a container may have no namespaces */
export const findRoom = async (starts: (room: Room) => Promise<boolean>): Promise<Room> => {
  for (const room of rooms()) if (await starts(room)) return room;
  return noRoom;
};
