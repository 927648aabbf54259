/** Commands in comments on pull requests. Pure. */

export interface Command {
  verb: 'plan' | 'apply' | 'unlock' | 'link';
  /** A workspace's name, or the code of a link. */
  argument?: string;
}

const form = /^stepform[ \t]+(plan|apply|unlock|link)(?:[ \t]+([\w-]{1,100}))?$/;

/** The whole comment must be the command: a quoted command, or one inside other text, does not count. */
export const commandOf = (body: string): Command | undefined => {
  const [, verb, argument] = form.exec(body.trim()) ?? [];
  return verb ? { verb: verb as Command['verb'], ...(argument ? { argument } : {}) } : undefined;
};
