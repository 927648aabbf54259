/** Which provider set configures a provider where several do (HCP Terraform: configure provider sets). */

export interface SetScopes {
  global: boolean;
  ofProject: boolean;
  ofWorkspace: boolean;
}

/** The first one that fits counts before the others. Undefined: the set does not apply. */
export const rankOfSet = (priority: boolean, { global, ofProject, ofWorkspace }: SetScopes): number | undefined => {
  const widest = [global, ofProject, ofWorkspace];
  const at = (priority ? widest : widest.toReversed()).indexOf(true);
  if (at < 0) return undefined;
  return priority ? at : widest.length + at;
};
