/** Texts for users: why an apply's newest state was not saved to the workspace. */

export const tornText =
  'Terraform was killed while it wrote its state. Its last changes are not recorded, and the state may be stale. ' +
  'Compare it with what exists (a refresh-only run) before the next apply.';

/** Location of a state that could not be saved to the workspace. */
export type Place = { is: 'errored state' } | { is: 'file'; file: string } | { is: 'nowhere'; why: string };

const places = (place: Place): string => {
  switch (place.is) {
    case 'errored state':
      return 'as this apply\'s errored state. Download it, then push it with "terraform state push".';
    case 'file':
      return `by the runner, encrypted, at ${place.file}. The platform restores it when it finds the file; an agent sends it when it starts.`;
    case 'nowhere':
      return `nowhere: ${place.why}. Compare the workspace's state with what exists before the next apply.`;
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
  `${why.replace(/\.$/, '')}. The newer state was saved ${places(place)} ` +
  'Until then the workspace is locked, so that no resource is created twice.';
