/** What people may say on a pull request. Pure. */

export interface Command {
  verb: 'plan' | 'apply' | 'unlock' | 'link';
  /** A workspace's name, or the code of a link. */
  argument?: string;
}

const form = /^stepform[ \t]+(plan|apply|unlock|link)(?:[ \t]+([\w-]{1,100}))?$/;

/** The whole comment is the command: a quoted one, or one in a text, is none. */
export const commandOf = (body: string): Command | undefined => {
  const [, verb, argument] = form.exec(body.trim()) ?? [];
  return verb ? { verb: verb as Command['verb'], ...(argument ? { argument } : {}) } : undefined;
};
