/** Tags as text: one per line, `key: value` or just `key`. */

export interface Tag {
  key: string;
  value: string;
}

export const textOfTag = ({ key, value }: Tag): string => (value ? `${key}: ${value}` : key);

export const textOfTags = (tags: Tag[]): string => tags.map(textOfTag).join('\n');

/** How the explorer's API writes them. */
export const readableTag = (text: string): string => text.replace(/:(?=\S)/, ': ');

/**
 * `key = value` is accepted, too. A key may contain a colon without a space after it.
 * @param tags tags that were written as the text: an unchanged line keeps its tag, because keys may contain any of these
 */
export const tagsIn = (text: string, tags: Tag[]): Tag[] => {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).map((line) => {
    const same = tags.find((tag) => textOfTag(tag) === line);
    if (same) return { key: same.key, value: same.value };
    const [, key = line, value = ''] = /^(.+?)(?::\s|=)(.*)$/.exec(line) ?? [];
    return { key: key.trim(), value: value.trim() };
  });
};
