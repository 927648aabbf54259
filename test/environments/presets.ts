import type { Preset } from '#environments/templates/plan.ts';

export const preset = (more: Partial<Preset> = {}): Preset => ({
  id: crypto.randomUUID(),
  name: 'small',
  description: '',
  icon: '',
  isDefault: true,
  parameters: {},
  instances: 2,
  ...more,
});
