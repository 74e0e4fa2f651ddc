import { scaleBand, scaleLinear } from 'd3-scale'
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
	const x = scaleBand(
		bars.map(({ label }) => label),
		[left, width],
	).padding(0.35)
	const y = scaleLinear([0, Math.max(1, ...bars.map(({ value }) => value))], [height - bottom, above]).nice(4)
	return (
		<figure className="chart">
			<svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
				{y.ticks(4).map((mark) => (
					<g key={mark}>
						<line x1={left} x2={width} y1={y(mark)} y2={y(mark)} />
						<text x={left - 8} y={y(mark) + 4} textAnchor="end">
							{formatMark(mark)}
						</text>
					</g>
				))}
				{bars.map(({ label, value }) => (
					<g key={label}>
						<rect x={x(label)} y={y(value)} width={x.bandwidth()} height={Math.max(0, y(0) - y(value))} rx={4}>
							<title>{`${label}: ${format(value)}`}</title>
						</rect>
						<text x={(x(label) ?? 0) + x.bandwidth() / 2} y={height - 6} textAnchor="middle">
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
