import { duration, exactTime } from '#clients/client/text/time.ts';
import { clock } from '#clients/web/live.ts';

/** Time remaining: `in 3 h 4 min`. */
export const Until = ({ at }: { at: string }) => {
  const left = Date.parse(at) - clock.value;
  return (
    <time class="nowrap" dateTime={at} title={exactTime(at)}>
      {left > 0 ? `in ${duration(left)}` : 'now'}
    </time>
  );
};
