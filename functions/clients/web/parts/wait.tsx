import { displayStatus } from '#run/display.ts';
import type { Wait } from '../text/queue.ts';
import { Person } from './person.tsx';
import { factsOf } from './status.tsx';

/** `2 of 3 in the queue, behind “Move to zone d” (Needs Confirmation)` */
export const InLine = ({ wait: { place, of, front, heldBy, reason } }: { wait: Wait }) => (
  <>
    {place} of {of} in the queue,{' '}
    {front ? (
      <>
        behind “{front.attributes.message}” ({displayStatus(factsOf(front)).name})
      </>
    ) : heldBy?.startsWith('user-') ? (
      <>
        waiting for <Person id={heldBy} /> to unlock the workspace{reason && `: “${reason}”`}
      </>
    ) : heldBy ? (
      <>waiting for the errored state of {heldBy} to be pushed</>
    ) : (
      'about to start'
    )}
  </>
);
