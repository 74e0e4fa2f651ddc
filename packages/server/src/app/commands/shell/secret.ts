// Asks for a secret on a terminal without showing it, or takes the line that is piped in.
import { text } from 'node:stream/consumers'
import { read } from 'read'

export async function secretOf(prompt: string): Promise<string> {
	if (!process.stdin.isTTY) return (await text(process.stdin)).trim()
	return (await read({ prompt: `${prompt}: `, silent: true, output: process.stderr })).trim()
}
