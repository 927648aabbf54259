import * as v from 'valibot';
import { text } from '#api/validation.ts';
import { webAddress } from '#api/web-address.ts';
import type { Ingress } from '#run/run.ts';

const words = (maxLength: number) => v.nullish(text(maxLength), null);

const address = v.nullish(webAddress(1000), null);

/**
 * Commit details of an uploaded configuration. HCP Terraform learns them from version control; here the uploader, who
 * has the checkout, sends them.
 */
export const ingressAttributes = v.pipe(
  v.object({
    'commit-sha': v.pipe(
      v.string(),
      v.regex(/^[0-9a-f]{7,64}$/i, 'must be a commit hash of 7 to 64 hexadecimal digits'),
    ),
    'commit-message': words(2000),
    'commit-url': address,
    branch: words(255),
    identifier: words(255),
    'clone-url': address,
    'sender-username': words(255),
  }),
  v.transform(
    (ingress): Ingress => ({
      commitSha: ingress['commit-sha'].toLowerCase(),
      commitMessage: ingress['commit-message'],
      commitUrl: ingress['commit-url'],
      branch: ingress.branch,
      identifier: ingress.identifier,
      cloneUrl: ingress['clone-url'],
      senderUsername: ingress['sender-username'],
    }),
  ),
);
