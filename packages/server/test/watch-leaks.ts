// Runs before each test file: a test fails in which a server gave a secret away.
import { afterAll, afterEach } from 'vitest'
import { checkLeaks } from './leaks.ts'

afterEach(checkLeaks)
// Of what servers wrote while they ended.
afterAll(checkLeaks)
