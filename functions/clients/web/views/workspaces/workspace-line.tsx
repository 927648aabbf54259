import type { Signal } from '@preact/signals';
import { problemsOf } from '#clients/client/text/health.ts';
import { count } from '#clients/client/text/time.ts';
import { hrefOf } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { Status, since } from '#clients/web/parts/status.tsx';
import { related } from '#clients/web/session.ts';
import { textOfTag } from '#clients/web/text/tags.ts';
import type { Row } from '#clients/web/text/workspace-rows.ts';

interface Props extends OrganizationProps, Pick<Row, 'workspace' | 'run' | 'health'> {
  project: string | undefined;
  chosen: Signal<ReadonlySet<string>> | undefined;
}

/** A workspace in a list, with its project and current run. */
export const WorkspaceLine = ({ workspace, run, health, organization, project, chosen }: Props) => {
  const { name, locked, tags, 'resource-count': resources, 'managed-by': owner } = workspace.attributes;
  const held = locked && related(workspace, 'locked-by')?.startsWith('user-');
  return (
    <li class={chosen && 'selectable'}>
      {chosen && (
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={chosen.value.has(workspace.id)}
          onChange={() => {
            const next = new Set(chosen.value);
            if (!next.delete(workspace.id)) next.add(workspace.id);
            chosen.value = next;
          }}
        />
      )}
      <a class="item columned" href={hrefOf({ view: 'workspace', organization, workspace: name, tab: 'overview' })}>
        <span class="row">
          <span class="title">{name}</span>
          <Tags of={[held && 'locked', owner]} />
          {problemsOf(health).map(({ text }) => (
            <span key={text} class="tag warn">
              {text}
            </span>
          ))}
          {tags.slice(0, 4).map((tag) => (
            <span key={tag.key} class="tag only-wide">
              {textOfTag(tag)}
            </span>
          ))}
        </span>
        <span class="meta">
          {count(resources, 'resource')}
          {run && (
            <>
              {' · '}
              <span class="break">{run.attributes.message}</span>
            </>
          )}
        </span>
        <span class="columns">
          <span class="meta break">
            {project && (
              <>
                <span class="visually-hidden">in project </span>
                {project}
              </>
            )}
          </span>
          <span class="meta break">
            {run && (
              <>
                <span class="visually-hidden">by </span>
                <Person id={related(run, 'created-by')} />
              </>
            )}
          </span>
        </span>
        <span class="end">
          {run ? <Status run={run} /> : <span class="status">No runs yet</span>}
          {run && (
            <span class="meta">
              <Ago at={since(run)} />
            </span>
          )}
        </span>
      </a>
    </li>
  );
};
