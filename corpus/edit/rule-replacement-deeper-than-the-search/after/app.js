var plugin = {
        draw: function(chart) {
            var ctx = chart.ctx;
            if (chart.isWide) {
                chart.sets.forEach(function(set) {
                    ctx.fill(set);
                });
            }
        }
};
