import { signal } from '@preact/signals';

/** Light, dark, or the system's setting. The only choice that is stored persistently. */

const key = 'stepform-theme';
const choices = ['system', 'light', 'dark'] as const;
type Choice = (typeof choices)[number];

const read = (): Choice => {
  const stored = localStorage.getItem(key);
  return choices.find((choice) => choice === stored) ?? 'system';
};

const choice = signal<Choice>(read());

const show = (): void => {
  document.documentElement.dataset.theme = choice.value;
};
show();

const next = (): void => {
  choice.value = choices[(choices.indexOf(choice.value) + 1) % choices.length] as Choice;
  localStorage.setItem(key, choice.value);
  show();
};

const signs: Record<Choice, string> = { system: '◐', light: '○', dark: '●' };

export const ThemeButton = () => (
  <button
    type="button"
    class="quiet small-button"
    aria-label={`Theme: ${choice.value}. Change`}
    title={`Theme: ${choice.value}`}
    onClick={next}
  >
    <span aria-hidden="true">{signs[choice.value]}</span>
  </button>
);
