import { marksTo } from './scale.ts'
import './chart.css'

interface Bar {
	readonly label: string
	readonly value: number
}

interface ChartProps {
	readonly title: string
	readonly bars: readonly Bar[]
	readonly format: (value: number) => string
	/** Of the marks of the axis, shorter. */
	readonly formatMark: (value: number) => string
}

// On a phone it is drawn narrower, so that its letters keep their size.
const isPhone = matchMedia('(max-width: 48rem)').matches
const [width, height, left, bottom, above] = isPhone ? [340, 200, 36, 24, 10] : [640, 220, 56, 24, 10]

/** Bars over time. Whoever does not see them reads the table behind. */
export function Chart({ title, bars, format, formatMark }: ChartProps) {
	// Above the cents: marks of parts of a cent would read alike.
	const marks = marksTo(Math.max(400, ...bars.map(({ value }) => value)))
	const y = (value: number) => height - bottom - ((height - bottom - above) * value) / (marks.at(-1) as number)
	const slot = (width - left) / bars.length
	const bar = slot * 0.65
	return (
		<figure className="chart">
			<svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
				{marks.map((mark) => (
					<g key={mark}>
						<line x1={left} x2={width} y1={y(mark)} y2={y(mark)} />
						<text x={left - 8} y={y(mark) + 4} textAnchor="end">
							{formatMark(mark)}
						</text>
					</g>
				))}
				{bars.map(({ label, value }, n) => (
					<g key={label}>
						<rect x={left + slot * n + (slot - bar) / 2} y={y(value)} width={bar} height={y(0) - y(value)} rx={4}>
							<title>{`${label}: ${format(value)}`}</title>
						</rect>
						<text x={left + slot * (n + 0.5)} y={height - 6} textAnchor="middle">
							{label}
						</text>
					</g>
				))}
			</svg>
			<table className="hidden">
				<caption>{title}</caption>
				<tbody>
					{bars.map(({ label, value }) => (
						<tr key={label}>
							<th scope="row">{label}</th>
							<td>{format(value)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</figure>
	)
}
