import { jestConfig } from '../../.config/jest.base.mjs';

export default jestConfig(import.meta.dirname);
