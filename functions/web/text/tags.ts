/** Tags as people write them: one a line, `key = value` or `key` alone. */

export interface Tag {
  key: string;
  value: string;
}

export const textOfTag = ({ key, value }: Tag): string => (value ? `${key} = ${value}` : key);

export const textOfTags = (tags: Tag[]): string => tags.map(textOfTag).join('\n');

/** @param known what the text was made of: keys may have an equals sign too, so lines that were left alone are theirs */
export const tagsIn = (text: string, tags: Tag[]): Tag[] => {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).map((line) => {
    const same = tags.find((tag) => textOfTag(tag) === line);
    if (same) return { key: same.key, value: same.value };
    const [key = '', ...value] = line.split('=');
    return { key: key.trim(), value: value.join('=').trim() };
  });
};
