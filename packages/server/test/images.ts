// Images for tests of logos.
import { crc32, deflateSync } from 'node:zlib'

/** A PNG of one colour, with colour profiles of so many bytes. */
export function png(
	width: number,
	height: number,
	color: readonly [number, number, number],
	...profiles: readonly number[]
): Buffer {
	const header = Buffer.alloc(13)
	header.writeUInt32BE(width, 0)
	header.writeUInt32BE(height, 4)
	header.set([8, 2, 0, 0, 0], 8)
	const row = Buffer.concat([Buffer.of(0), Buffer.concat(Array(width).fill(Buffer.from(color)))])
	const data = deflateSync(Buffer.concat(Array(height).fill(row)))
	const signature = Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
	const iccp = profiles.map((bytes) => chunk('iCCP', Buffer.concat([Buffer.from('name\0\0'), deflateSync(Buffer.alloc(bytes))])))
	return Buffer.concat([signature, chunk('IHDR', header), ...iccp, chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type), data])
	const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
	length.writeUInt32BE(data.length)
	sum.writeUInt32BE(crc32(body))
	return Buffer.concat([length, body, sum])
}

export const svg = (content: string, attributes = 'width="120" height="40"'): Buffer =>
	Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}>${content}</svg>`)
