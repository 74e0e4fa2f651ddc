import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const program = 'tools/end-with-runners.ts'
it('npx and pnpm are watched, and no shell that started them', async () => {
	const child = spawn('npx', ['-y', 'pnpm@12.21.0', 'exec', 'node', program], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
	let printed = ''
	child.stdout.on('data', (text) => {
		printed += text
	})
	await once(child, 'close')
	expect(printed.trim().split(' ')).toEqual([expect.stringMatching(/^\d+$/), String(child.pid)])
	expect(execFileSync('sh', ['-c', `node ${program}; true`], { cwd: root, encoding: 'utf8' }).trim()).toBe('')
})

it('where there is neither /proc nor ps, nothing is watched, and what it is loaded before runs', () => {
	const noProc = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; fs.existsSync = () => false; syncBuiltinESMExports()`
	const preloads = [`--import=data:text/javascript,${encodeURIComponent(noProc)}`, `--import=./${program}`]
	const run = [...preloads, '--input-type=module', '--eval', 'console.log(1)']
	expect(execFileSync(process.execPath, run, { cwd: root, encoding: 'utf8', env: { PATH: '/nonexistent' } })).toBe('1\n')
})
