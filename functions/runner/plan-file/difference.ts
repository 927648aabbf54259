/** Where they differ, and how. */
export class Difference extends Error {}

export const differ = (where: string, how: string): never => {
  throw new Difference(`${where}: ${how}`);
};
