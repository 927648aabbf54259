import type { Resource } from '#clients/client/client.ts';
import type { FailedPart } from '#clients/client/run-facts.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';

interface EndReasonProps extends OrganizationProps {
  run: Resource<'runs'>;
  failed: FailedPart | undefined;
  workspace: Resource<'workspaces'> | undefined;
}

/** Why a run ended early, with links to the error and to what the error names. */
export const EndReason = ({ run, failed, workspace, organization }: EndReasonProps) => {
  const { status, 'end-reason': reason } = run.attributes;
  if (!reason) return null;
  const isAboutVariable = /\b(?:for|of) (?:required |input |undeclared )?variable\b/.test(reason);
  return (
    <Notice kind={status === 'errored' ? 'bad' : 'warn'}>
      <p class="break">{reason}</p>
      {failed && (
        <p class="row">
          <a href={`#${failed.id}`}>{failed.link}</a>
          {isAboutVariable && workspace && (
            <a
              href={hrefOf({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'variables' })}
            >
              Set variables
            </a>
          )}
        </p>
      )}
    </Notice>
  );
};
