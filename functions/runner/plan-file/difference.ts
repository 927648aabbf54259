/** Where and how the plan file and the JSON differ. */
export class Difference extends Error {}

export const differ = (where: string, how: string): never => {
  throw new Difference(`${where}: ${how}`);
};
