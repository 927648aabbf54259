import { inject, TestRunner } from 'vitest';

/** Skips whole files, including their preparation, if there is no browser. */
export default class BrowserTestRunner extends TestRunner {
  constructor(config: ConstructorParameters<typeof TestRunner>[0]) {
    if (typeof inject('browser') === 'string') config.testNamePattern = /(?!)/;
    super(config);
  }
}
