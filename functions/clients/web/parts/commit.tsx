import type { Resource } from '#clients/client/client.ts';
import { Outside } from './outside.tsx';

/** The run's commit. */
export const Commit = ({ ingress: { attributes } }: { ingress: Resource<'ingress-attributes'> }) => {
  const { branch, identifier } = attributes;
  return (
    <>
      <Outside url={attributes['commit-url']}>
        <code>{attributes['commit-sha'].slice(0, 8)}</code>
      </Outside>
      {branch && <> on {branch}</>}
      {identifier && <> of {identifier}</>}
      {attributes['pull-request-url'] && (
        <div>
          <Outside url={attributes['pull-request-url']}>
            {`PR #${attributes['pull-request-number']} ${attributes['pull-request-title'] ?? ''}`}
          </Outside>
        </div>
      )}
      {attributes['commit-message'] && <div class="soft">{attributes['commit-message']}</div>}
      {attributes['sender-username'] && <div class="soft">by {attributes['sender-username']}</div>}
    </>
  );
};
