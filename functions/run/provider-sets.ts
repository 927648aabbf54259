/** Selects the provider set that configures a provider if several do (HCP Terraform: configure provider sets). */

export interface SetScopes {
  global: boolean;
  ofProject: boolean;
  ofWorkspace: boolean;
}

/** Rank of a set; the lowest wins. Undefined: the set does not apply. */
export const rankOfSet = (priority: boolean, { global, ofProject, ofWorkspace }: SetScopes): number | undefined => {
  const widest = [global, ofProject, ofWorkspace];
  const at = (priority ? widest : widest.toReversed()).indexOf(true);
  if (at < 0) return undefined;
  return priority ? at : widest.length + at;
};
