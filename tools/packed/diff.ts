// Uses the contract diff as an outsider: packs it, installs it into an empty folder, and runs its command there.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tarball } from './folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-diff-'))

/** Runs the installed command, and compares its exit code and first line. */
function expect(args: string[], status: number, line: RegExp): void {
	const ran = spawnSync('npx', ['--no-install', 'contract-diff', ...args], { cwd: folder, encoding: 'utf8' })
	const first = `${ran.stdout}${ran.stderr}`.split('\n')[0] ?? ''
	if (ran.status === status && line.test(first)) return
	throw new Error(
		`contract-diff ${args.join(' ')}: exit code ${ran.status} instead of ${status}, and says "${first}" where ${line} is expected`,
	)
}

const document = (version: string, ...methods: string[]) => ({
	openapi: '3.1.0',
	info: { title: 'Notes', version },
	paths: { '/notes': Object.fromEntries(methods.map((method) => [method, { responses: { 204: { description: 'Yes.' } } }])) },
})

try {
	writeFileSync(join(folder, 'package.json'), '{"private":true}')
	const archive = tarball('contract-diff')
	execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', archive], { cwd: folder, stdio: 'inherit' })
	writeFileSync(join(folder, 'old.json'), JSON.stringify(document('1.0.0', 'get', 'delete')))
	writeFileSync(join(folder, 'new.json'), JSON.stringify(document('1.1.0', 'get')))
	expect(['old.json', 'old.json', '--fail-on', 'docs'], 0, /^none: 0 breaking/)
	expect(['old.json', 'new.json'], 0, /^old\.json:1:\d+: breaking: DELETE \/notes: operation: removed \[operation-removed\]$/)
	expect(['old.json', 'new.json', '--fail-on', 'breaking'], 1, /^old\.json:1:/)
	expect(['old.json', 'new.json', '--check'], 1, /^old\.json:1:/)
	expect(['old.json', 'other.json'], 2, /^contract-diff: cannot read other\.json \(ENOENT\)$/)
	const program = `import { diffContracts } from '@remit/contract-diff'; import { readFileSync } from 'node:fs'
		const read = (name) => JSON.parse(readFileSync(name, 'utf8'))
		console.log(diffContracts(read('old.json'), read('new.json')).verdict)`
	const told = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, encoding: 'utf8' })
	if (told !== 'breaking\n') throw new Error(`a program that imports the package gets ${told}`)
	console.log('the packed contract diff installs and runs')
} finally {
	rmSync(folder, { recursive: true, force: true })
}
