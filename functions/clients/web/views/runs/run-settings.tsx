import type { Resource } from '#clients/client/client.ts';
import { type Fact, Facts } from '#clients/web/parts/basics.tsx';
import { Commit } from '#clients/web/parts/commit.tsx';
import { related } from '#clients/web/session.ts';

interface RunSettingsProps {
  run: Resource<'runs'>;
  plan: Resource<'plans'> | undefined;
  /** The configuration's commit. */
  ingress: Resource<'ingress-attributes'> | undefined;
}

/** The options of a run. */
export const RunSettings = ({ run, plan, ingress }: RunSettingsProps) => {
  const { attributes } = run;
  return (
    <section class="panel pad">
      <Facts
        facts={[
          ingress && ['Commit', <Commit key="commit" ingress={ingress} />],
          ['Terraform', versionOf(run, plan)],
          [
            'Apply',
            attributes['plan-only']
              ? 'never'
              : attributes['auto-apply']
                ? 'without confirmation'
                : 'after confirmation',
          ],
          list('Targets', attributes['target-addrs']),
          list('Replace', attributes['replace-addrs']),
          list('Invoke', attributes['invoke-action-addrs']),
          attributes.refresh === false && ['Refresh', 'no'],
          list('Variables', variablesOf(run)),
          ['Configuration', <code key="cv">{related(run, 'configuration-version')}</code>],
          ['ID', <code key="id">{run.id}</code>],
        ]}
      />
    </section>
  );
};

/** `1.11.4`, `1.11.4 (latest)`; the configured version before the plan. */
const versionOf = ({ attributes }: Resource<'runs'>, plan: Resource<'plans'> | undefined): string => {
  const configured = attributes['terraform-version'];
  const used = plan?.attributes['terraform-version'];
  return !used || used === configured ? configured : `${used} (${configured})`;
};

/** Variables of this run only. */
const variablesOf = ({ attributes }: Resource<'runs'>): string[] =>
  (attributes.variables ?? []).map(({ key, value }: { key: string; value: string }) => `${key} = ${value}`);

const list = (name: string, entries: string[] | null): Fact =>
  entries?.length
    ? [
        name,
        entries.map((entry) => (
          <code key={entry} class="entry">
            {entry}
          </code>
        )),
      ]
    : undefined;
