import { jestConfig } from '../../../tools/lint/jest.base.mjs';

export default jestConfig(import.meta.dirname);
