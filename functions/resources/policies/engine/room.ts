/**
 * Where Linux allows this process to create namespaces, an engine runs without a network, and its file system
 * contains only the engine and its working directory. Lambda and macOS have no such namespaces; there, only the
 * restrictions of the language (pure-builtins.ts, set-files.ts) keep policies from files and network.
 */

/** The file in the working directory on which the engine's binary is mounted. */
export const mountPoint = 'engine';

/** The mounts belong to the process and end with it. */
const enter = `mount --bind -- "$0" ${mountPoint} && exec chroot . /${mountPoint} "$@"`;

/** Returns the command that starts an engine. */
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

/**
 * Returns the first room in which the engine starts, or one without isolation. A dynamically linked engine finds no
 * libraries in a room, and a container may not allow namespaces.
 * @param starts tries to start the engine in the room
 */
export const findRoom = async (starts: (room: Room) => Promise<boolean>): Promise<Room> => {
  for (const room of rooms()) if (await starts(room)) return room;
  return noRoom;
};
