import * as v from 'valibot';
import { activityMs } from '#run/auto-destroy.ts';

const wrongFormat =
  "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')";

export const activityDuration = v.pipe(
  v.string(),
  v.check((duration) => activityMs(duration) !== undefined, wrongFormat),
);
