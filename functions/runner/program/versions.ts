/** Whether the release of a version such as `1.14.0-rc1` precedes `first`. */
export const isBefore = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
};
