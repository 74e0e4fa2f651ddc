import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { cpuOfChildren, cpuSeconds } from './cpu.ts'

it('The CPU of children is read behind the name, whatever that has', () => {
	const stat =
		'4711 (node (a) b) S 1 2 3 0 -1 4194304 100 200 0 0 50 60 123 45 20 0 11 0 9 1 2 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17'
	expect(cpuOfChildren(stat)).toBeCloseTo(1.68)
})

it('What a child used counts once it has ended, where the system tells it', () => {
	const before = cpuSeconds()
	const busy = 'while (process.cpuUsage().user < 200_000);'
	execFileSync(process.execPath, ['-e', busy])
	// A tick less for user and for system.
	expect(cpuSeconds() - before).toBeGreaterThan(existsSync('/proc/self/stat') ? 0.18 : 0)
})
