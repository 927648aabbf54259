import type { Resource } from '#clients/client/client.ts';
import { useList, useLive } from '#clients/web/live.ts';
import { Facts, Loaded } from '#clients/web/parts/basics.tsx';
import { ExternalLink, Markdown } from '#clients/web/parts/markdown.tsx';
import { Unfold } from '#clients/web/parts/section.tsx';
import { content } from '#clients/web/session.ts';
import { safeHref } from '#clients/web/text/inline.ts';
import type { TagLevel } from '#run/task-stages.ts';

/** Outcomes of a run task, loaded on request. */

const tones: Record<TagLevel, string> = { none: '', info: 'info', warning: 'warn', error: 'bad' };
const icons: Record<TagLevel, string> = { none: '', info: 'i', warning: '!', error: '✕' };

interface Tag {
  label: string;
  value: { label: string; level: TagLevel }[];
}

/** Tags that show the severity at a glance. */
const isProminent = ({ label }: Tag): boolean => ['severity', 'status'].includes(label.toLowerCase());

export const Outcomes = ({ result }: { result: Resource<'task-results'> }) => {
  const count = result.attributes['task-result-outcomes-count'] as number;
  return (
    <Unfold class="outcomes" summary={count === 1 ? '1 outcome' : `${count} outcomes`}>
      {() => <List key={`${count} ${result.attributes['updated-at']}`} result={result} />}
    </Unfold>
  );
};

const List = ({ result }: { result: Resource<'task-results'> }) => (
  <Loaded live={useList<'task-result-outcomes'>(`/task-results/${result.id}/outcomes`)} what="outcomes">
    {(outcomes) => (
      <ul class="stack">
        {outcomes.map((outcome) => (
          <Outcome key={outcome.id} outcome={outcome} />
        ))}
      </ul>
    )}
  </Loaded>
);

const Tags = ({ tags }: { tags: Tag[] }) => (
  <>
    {tags.map(({ label, value }) =>
      value.map((tag) => (
        <span key={`${label} ${tag.label}`} class={`tag ${tones[tag.level]}`}>
          {icons[tag.level] && <span aria-hidden="true">{icons[tag.level]} </span>}
          <span class="visually-hidden">{label}: </span>
          {tag.label}
        </span>
      )),
    )}
  </>
);

const Outcome = ({ outcome }: { outcome: Resource<'task-result-outcomes'> & { links?: { body?: string } } }) => {
  const { attributes, links } = outcome;
  const tags = (attributes.tags ?? []) as Tag[];
  const href = attributes.url ? safeHref(attributes.url) : undefined;
  const others = tags.filter((tag) => !isProminent(tag));
  return (
    <li class="outcome stack">
      <div class="row">
        <Tags tags={tags.filter(isProminent)} />
        <code>{attributes['outcome-id']}</code>
        <span class="break">{attributes.description}</span>
        {href && <ExternalLink href={href}>More about {attributes['outcome-id']}</ExternalLink>}
      </div>
      {others.length > 0 && (
        <Facts
          facts={others.map((tag) => [
            tag.label,
            <span key={tag.label} class="row">
              <Tags tags={[tag]} />
            </span>,
          ])}
        />
      )}
      {links?.body && (
        <Unfold summary={`Details of ${attributes['outcome-id']}`}>{() => <Body id={outcome.id} />}</Unfold>
      )}
    </li>
  );
};

const Body = ({ id }: { id: string }) => {
  const path = `/task-result-outcomes/${id}/body`;
  const live = useLive(path, async () => (await content(path)).text());
  return (
    <Loaded live={live} what="text">
      {(text) => <Markdown text={text} />}
    </Loaded>
  );
};
