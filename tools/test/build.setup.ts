// The smoke tests run what a user runs: the packages as they are built.
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'

export const setup = () => {
	// Vite builds by NODE_ENV, which is `test` here.
	const env = { ...process.env, NODE_ENV: 'production' }
	execFileSync('pnpm', ['--silent', 'build'], { cwd: resolve(import.meta.dirname, '../..'), env, stdio: 'inherit' })
}
