import { jestConfig } from '../lint/jest.base.mjs';

export default jestConfig(import.meta.dirname);
