/** Texts for users: why an apply's newest state was not saved to the workspace. */

export const tornText =
  'Terraform was killed while it wrote its state. Its last changes are not recorded, and the state may be stale. ' +
  'Compare it with what exists (a refresh-only run) before the next apply.';

/** Location of a state that could not be saved to the workspace. */
export type Place = { is: 'errored state' } | { is: 'file'; file: string } | { is: 'nowhere'; why: string };

const placeText = (place: Place): string => {
  switch (place.is) {
    case 'errored state':
      return 'The newer state was saved as this apply\'s errored state. Download it, then push it with "terraform state push".';
    case 'file':
      return `The runner saved the newer state, encrypted, at ${place.file}. The platform restores it when it finds it there; an agent sends it when it starts.`;
    case 'nowhere':
      return `The newer state could not be saved anywhere: ${place.why}. Push a state that contains the changes, or force-unlock the workspace to continue from its recorded state.`;
  }
};

interface Unsaved {
  serial: number;
  /** Serial of the workspace's state. */
  before: number | undefined;
  why: string;
  place: Place;
}

export const unsavedText = ({ serial, before, why, place }: Unsaved): string =>
  `The state of this apply (serial ${serial}) could not be saved to the workspace, which still has ${before === undefined ? 'no state' : `serial ${before}`}: ` +
  `${why.replace(/\.$/, '')}. ${placeText(place)} ` +
  'Until then the workspace is locked, so that no resource is created twice.';
