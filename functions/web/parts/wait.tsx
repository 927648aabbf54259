import { displayStatus } from '../../run/display.ts';
import type { Wait } from '../text/queue.ts';
import { Person } from './person.tsx';
import { factsOf } from './status.tsx';

/** `2 of 3 in line, behind “Move to zone d” (Needs Confirmation)` */
export const InLine = ({ wait: { place, of, front, heldBy, reason } }: { wait: Wait }) => (
  <>
    {place} of {of} in line,{' '}
    {front ? (
      <>
        behind “{front.attributes.message}” ({displayStatus(factsOf(front)).name})
      </>
    ) : heldBy?.startsWith('user-') ? (
      <>
        until <Person id={heldBy} /> unlocks the workspace{reason && `: “${reason}”`}
      </>
    ) : heldBy ? (
      <>until the state that {heldBy} has left behind is brought in</>
    ) : (
      'about to start'
    )}
  </>
);
