import type { Resource } from '#clients/client/client.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { related } from '#clients/web/session.ts';

export interface Managed {
  address: string;
  type: string;
  module: string;
  provider: string;
  /** Addresses in the configuration. */
  dependsOn: string[];
  createdAt: string | undefined;
  /** The next plan replaces it. */
  tainted: boolean;
  /** Newest first. */
  changes: { version: string; run: string | undefined; at: string }[];
}

interface Props {
  change: Managed['changes'][number] | undefined;
  workspace: Resource<'workspaces'>;
}

/** The run that made the change, else the state version. */
export const LastChange = ({ change, workspace }: Props) => {
  if (!change) return <span class="soft">before history was recorded</span>;
  const { version, run, at } = change;
  const common = { organization: related(workspace, 'organization') ?? '', workspace: workspace.attributes.name };
  return (
    <>
      <Ago at={at} />{' '}
      <a href={hrefOf(run ? { view: 'run', ...common, run } : { view: 'state', ...common, version })}>
        {run ? 'run' : 'state upload'}
      </a>
    </>
  );
};
