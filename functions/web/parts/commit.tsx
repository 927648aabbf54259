import type { Resource } from '../../client/client.ts';

/** The run's commit. Its URL comes from the uploader, so only https becomes a link. */
export const Commit = ({ ingress: { attributes } }: { ingress: Resource<'ingress-attributes'> }) => {
  const { branch, identifier } = attributes;
  const sha = <code>{attributes['commit-sha'].slice(0, 8)}</code>;
  const url = attributes['commit-url'] as string | null;
  return (
    <>
      {url?.startsWith('https://') ? (
        <a href={url} rel="noreferrer noopener" target="_blank">
          {sha}
        </a>
      ) : (
        sha
      )}
      {branch && <> on {branch}</>}
      {identifier && <> of {identifier}</>}
      {attributes['commit-message'] && <div class="soft">{attributes['commit-message']}</div>}
      {attributes['sender-username'] && <div class="soft">by {attributes['sender-username']}</div>}
    </>
  );
};
