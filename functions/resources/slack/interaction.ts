import * as v from 'valibot';
import { buttonPrefix } from '#run/notifications/formats.ts';
import type { Choice } from '#run/notifications/message.ts';

/** Interactions as Slack sends them: a form whose field `payload` is JSON (Slack: block_actions payloads). */

/** Keys of the table are limited. */
const id = v.pipe(v.string(), v.maxLength(100));

const schema = v.object({
  type: v.literal('block_actions'),
  user: v.object({ id, team_id: v.optional(v.string()) }),
  // Null where an app is installed for an enterprise.
  team: v.nullish(v.object({ id: v.string() })),
  response_url: v.optional(v.string()),
  actions: v.pipe(v.array(v.object({ action_id: v.string(), value: v.optional(id) })), v.length(1)),
});

/** A click on one of this platform's buttons. Nothing else in the payload counts. */
export interface Click {
  choice: Choice;
  runId: string;
  slackUser: string;
  /** Slack workspaces of the user and of the message; a shared channel has users of others. */
  teams: (string | undefined)[];
  replyUrl: string | undefined;
}

const choices: readonly Choice[] = ['apply', 'override', 'discard'];

/** Undefined for interactions without an effect here, such as links in other messages of the app. */
export const clickIn = (payload: string): Click | undefined => {
  let document: unknown;
  try {
    document = JSON.parse(payload);
  } catch {
    return undefined;
  }
  const { success, output } = v.safeParse(schema, document);
  if (!success) return undefined;
  const [action] = output.actions;
  const choice = choices.find((one) => action?.action_id === buttonPrefix + one);
  if (!choice) return undefined;
  const { user, team, response_url: replyUrl } = output;
  return {
    choice,
    runId: action?.value ?? '',
    slackUser: user.id,
    teams: [team?.id, user.team_id ?? team?.id],
    replyUrl,
  };
};
