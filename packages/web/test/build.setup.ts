// The tests of this folder ask a server for the built pages. A process of its own, since Vite builds by NODE_ENV, which is `test` here.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export const setup = () => {
	const env = { ...process.env, NODE_ENV: 'production' }
	execFileSync(process.execPath, [join(import.meta.dirname, '../build.ts')], { env, stdio: 'inherit' })
}
